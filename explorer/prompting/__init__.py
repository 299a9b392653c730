"""Rendering a prompt to a budget by priority, as VS Code's chat agent does (A44 to A46).

- ``elements``: what a prompt is made of: messages, texts, groups, lists, limits.
- ``text``: cutting texts to a size without harm to what a person reads.
- ``layout``: budgets handed down the tree, elements rendered into nodes.
- ``dropping``: what goes first when the tree is over its budget.
- ``rendered_prompt``: the two together: messages with their sources, and what was dropped and why.
- ``budget``: how many tokens the messages of a request may take.
- ``messages``: what comes out.
- ``turns``: a conversation as turns and rounds; ``agent_prompt``: the prompt of an agent from them.

Nothing here reads files, knows a clock, a database or a network. Sizes are tokens unless a name
says otherwise; who counts them comes in as an argument.
"""
