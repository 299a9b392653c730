"""Verbs that people put work in, and the words that stand around an order."""

from __future__ import annotations

from explorer.audit.atoms.lists import word_set

VERBS = word_set(
    """
    adapt add adopt alias align allow analyse analyze annotate append apply arrange ask assign
    attach audit automate backfill backport bisect boot bypass calculate carry catch choose clarify
    clone collapse collect combine compare compile complete compress compute configure confirm
    connect consider consolidate construct continue convert crawl create customise customize
    debounce debug declare decouple decrease dedupe deduplicate define delete deploy deprecate
    describe determine diagnose disable discard distinguish do dockerise dockerize double-check
    download downgrade duplicate eliminate embed emit enable encode encrypt enforce enhance enlarge
    enrich erase establish evaluate examine execute exclude expand explain explore expose extend
    extract fetch figure fill find finish fire flatten flip follow gather generate get give go grab
    guard handle hash have hide highlight hook hunt identify implement improve include increase
    infer inform initialise initialize inject inline insert inspect install instrument integrate
    introduce invert investigate invoke isolate iterate justify kick kill knock learn let localise
    localize locate lower make memoize merge migrate minify minimise minimize modernise
    modernize modify modularise modularize move narrow normalise normalize notify obtain omit open
    optimise optimize organise organize outline overhaul overwrite parallelise parallelize
    parametrize parse paste perform persist polish populate port prepare prepend preview prioritise
    prioritize proceed process produce profile propose prove provide prune publish pull push put
    quote raise re-add re-check re-export re-order re-read re-run re-test re-use read rearrange
    rebase rebuild recalculate recheck recommend reconsider recover recreate redesign redirect redo
    reduce refactor refine reformat refresh regenerate register reimplement reindex reinstall
    reintroduce reject reload relocate remind remove rename render reorder reorganise reorganize
    replace reply reproduce rerun rescan reset resize resolve respond restart restore restructure
    resubmit resume retest rethink retrieve retry reuse revert revise revisit rewind rewrite rework
    roll rollback rotate sanitise sanitize save scaffold scale scrape send separate serialise
    serialize serve set share shave shorten show shrink shut simplify simulate sketch skip smooth
    solve specify speed spell spin squash stabilise stabilize stage standardise standardize stash
    stop store streamline strip stub submit substitute suggest summarise summarize suppress swap
    sync tell terminate throttle tidy transform translate treat trim triage repeat anonymise
    anonymize mask redact reword rephrase
    recompile redeploy reboot reopen resend requeue reschedule revalidate enumerate recount
    reconcile reconnect replay retrain rescale cross-check sanity-check subtract teach truncate
    unzip vendor archive tabulate crop center troubleshoot try turn
    tweak unblock uncomment undo unify uninstall unlock unpack unpin untangle unwrap update upgrade
    upload validate vectorize verify visualise visualize walk wipe wire wrap write yank zip
    """
)
"""Verbs that are seldom anything else at the head of a clause."""

NOUN_VERBS = word_set(
    """
    build report release request record run play block load group drill grant display batch bundle
    trace trigger type format return repair address adjust archive benchmark bench bin bring bump
    cache call cancel capture change chart check clean clear close comment commit copy count cover
    craft cut deal design detail document draft drop dump edit end estimate expect experiment export
    fail file filter fix focus force fork graph help implement import index install join jump label
    launch lint list lock log look map mark match measure mention mock model monitor name pack pair
    patch pause pick pin ping plan plot point post pretend print probe program query queue quick-fix
    rank rate recap redraft research rest review sample scan schedule scope scroll search secure
    seed select set setup ship show sign sort split start state step stream study style sum summary
    support switch tag take target template test ticket time toggle touch track trial tune update
    use version wait warn wave watch weigh work poke dig double mirror correct round shift
    """
)
"""Verbs that are as often nouns: "test the build", but "test data"."""

RULE_VERBS = word_set(
    """
    keep leave avoid never don't dont prefer stick stay ensure limit restrict remember be assume
    respect follow obey honour honor preserve maintain refrain confine use mind treat stop only
    """
)
"""Heads of orders that hold from now on rather than ask for a piece of work."""

CHOICE_VERBS = word_set(
    """
    go use keep stick drop leave skip take call pick choose settle stay say postpone park switch
    move adopt forget default scrap ditch defer pin name accept live shelve abandon require prefer
    support treat limit cap store
    """
)
"""What "let's" is said with where a way is chosen."""

FINITE = word_set(
    """
    is are was were isn't aren't wasn't weren't has have had hasn't haven't hadn't will would won't
    wouldn't can can't cannot could couldn't should shouldn't does doesn't did didn't do don't must
    mustn't may might went came comes goes takes took works worked fails failed says said looks
    looked seems seemed needs needed gets got runs ran shows showed stays stayed starts started
    finished finishes breaks broke passes passed continues continued happens happened it's that's
    there's what's he's she's i'm we're they're you're i've we've they've i'd we'd i'll we'll
    returns uses makes made gave gives wants wanted sends sent depends means meant tells told
    crashes crashed throws threw becomes became sits lives belongs
    """
)
"""Words that make a sentence of what would else be a phrase."""

SUBJECTS = word_set(
    "i we they you people users customers he she it who which that to when if while as whenever "
    "once because since where what why how"
)
"""Heads after which "and" goes on with the same subject: "I save and get an error"."""

OPENERS = word_set(
    """
    please pls plz also then now just first next so ok okay k well yes yeah yep yup yea sure great
    good nice cool perfect right thanks thank thx hi hey hello again maybe perhaps finally lastly
    actually instead meanwhile meantime afterwards afterward simply quickly kindly directly and but
    btw alright allright fine hm hmm ah oh ooh oops uh um uff i-guess guess still n secondly thirdly
    firstly further furthermore additionally once-more gladly briefly carefully immediately today
    tomorrow tonight second third last anyway anyways basically likewise similarly awesome excellent
    super wow aha ha lol sorry morning thereafter later or plus there guys folks team rather better
    """
)
"""Words before the head of a clause that leave it the head."""

OBJECTS = word_set(
    """
    the a an it its them this these those all your my our me us him her everything both each any
    every another some whether how why what where if yourself everyone anything something nothing
    that one again
    """
)
PARTICLES = word_set(
    """
    out into up down off over through back for with at to on from in around about away two three
    more quickly properly carefully too first now there here after before against between along
    across which
    """
)
"""What follows a verb, or the noun of the same letters."""
BARE = word_set(
    """
    fix check run update bump install list show drop import export merge split sort print tag get
    clean use review document profile build run return load repair
    """
)
"""Such verbs that stand with a bare noun: "fix typos", but not "release notes"."""
ALONE = word_set(
    """
    adjust commit merge test review start stop release run build fix cut show end continue proceed
    retry rerun revert push deploy publish undo redo try go rebase resume upload format clean
    """
)
"""Verbs that are an order by themselves."""
"""What follows a verb and seldom a noun that heads a phrase."""

ASK_WORDS = (
    VERBS | NOUN_VERBS | word_set("can could i'd let's lets please pls want we'd will would")
)
"""Words of which an order has at least one."""
