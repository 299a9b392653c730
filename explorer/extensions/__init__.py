"""Extensions: a user's Python, asked before and after compactions and navigations.

What an extension imports is in ``api``. ``extension_folder`` finds and imports the files,
``manager`` holds what is loaded and knows whose project folders may be loaded from, and ``runner``
calls the handlers and writes down what each of them did.
"""
