"""Rendering a prompt to a budget by priority, as VS Code's chat agent does (A44 to A46).

- ``elements``: what a prompt is made of: messages, texts, groups, lists, limits; budgets handed
  down the tree, and its elements rendered into nodes.
- ``text``: cutting texts to a size without harm to what a person reads.
- ``rendered_prompt``: what goes first when the tree is over its budget, and the messages that come
  out, with their sources, and what was dropped and why.
- ``turns``: a conversation as turns and rounds; ``agent_prompt``: the prompt of an agent from them,
  how many tokens its messages may take, and the requests for a summary.

Nothing here reads files, knows a clock, a database or a network. Sizes are tokens unless a name
says otherwise; who counts them comes in as an argument.
"""
