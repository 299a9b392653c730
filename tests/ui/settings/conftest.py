"""The same house and provider as the window's tests have."""

from tests.ui.window.conftest import house, pytest_pyfunc_call, server

__all__ = ["house", "pytest_pyfunc_call", "server"]
