"""Whether a line says what a statement says, in other words.

Two texts are read into clauses: their telling words evened by a table, their figures, whether
they forbid, what bounds they set. They say the same when the clauses that lay something down
are covered, figure by figure and sign by sign, and nothing of weight stands against them.
No model and no statistics: every verdict names the words that made it.

Where it cannot tell, it says no. A rule that is thought lost costs a look; a rule that is
thought alive and is not costs the rule.
"""

from explorer.audit.rewording.finding import Reworded, Rewordings
from explorer.audit.rewording.matching import Verdict

__all__ = ["Reworded", "Rewordings", "Verdict"]
