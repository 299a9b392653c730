"""Messages that wait for a running turn."""

from __future__ import annotations

from explorer.agent.turn_interface import MessageQueue, UserPrompt
from explorer.models.client import ImagePart
from explorer.session.entries import ImageBlock, TextBlock, UserMessage


def test_each_kind_is_taken_in_the_order_in_which_it_was_sent() -> None:
    queue = MessageQueue()
    queue.steer(UserPrompt("one"))
    queue.follow_up(UserPrompt("later"))
    queue.steer(UserPrompt("two"))
    queue.follow_up(UserPrompt("last"))
    assert [(each.prompt.text, each.kind) for each in queue.waiting] == [
        ("one", "steering"), ("later", "follow-up"), ("two", "steering"), ("last", "follow-up"),
    ]  # fmt: skip
    assert [each.text for each in queue.take_steering()] == ["one", "two"]
    assert queue.take_steering() == []
    assert [each.text for each in queue.take_follow_up()] == ["later"], "one at a time"
    assert [each.text for each in queue.take_follow_up()] == ["last"]
    assert queue.take_follow_up() == []


def test_everything_can_be_taken_back_or_one_of_it() -> None:
    queue = MessageQueue()
    queue.steer(UserPrompt("one"))
    queue.steer(UserPrompt("one"))
    first, _ = queue.waiting
    queue.remove(first)
    queue.remove(first)
    assert len(queue.waiting) == 1, "the other of two alike stays"
    queue.follow_up(UserPrompt("two"))
    assert [each.text for each in queue.take_back()] == ["one", "two"]
    assert queue.waiting == ()


def test_what_could_not_be_stored_waits_before_all_others() -> None:
    queue = MessageQueue()
    queue.steer(UserPrompt("new"))
    queue.put_back([UserPrompt("old"), UserPrompt("older")], "steering")
    assert [each.text for each in queue.take_steering()] == ["old", "older", "new"]


def test_listeners_hear_of_changes_and_of_nothing_else() -> None:
    queue, heard = MessageQueue(), []
    stop = queue.subscribe(lambda: heard.append(len(queue.waiting)))
    queue.take_back()
    queue.steer(UserPrompt("one"))
    queue.take_steering()
    queue.take_steering()
    assert heard == [1, 0]
    stop()
    queue.steer(UserPrompt("two"))
    assert heard == [1, 0]


def test_a_prompt_is_stored_as_text_and_pictures() -> None:
    picture = ImagePart("image/png", "aGk=")
    shown = ImageBlock("image/png", "aGk=")
    assert UserPrompt("look", (picture,)).message() == UserMessage((TextBlock("look"), shown))
    assert UserPrompt("", (picture,)).message().content == (shown,)
    assert UserPrompt.of("words").message().content == (TextBlock("words"),)
