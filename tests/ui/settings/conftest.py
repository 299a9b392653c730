"""The same house and provider as the window's tests have."""

from tests.ui.window.conftest import house, provider_library, pytest_pyfunc_call, server

__all__ = ["house", "provider_library", "pytest_pyfunc_call", "server"]
