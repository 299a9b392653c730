"""Replays of recorded sessions: ``recorded_session`` is what is replayed, ``player`` replays it."""
