"""Replays of recorded sessions: ``recording`` is what is replayed, ``player`` replays it."""
