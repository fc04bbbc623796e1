"""Drives the real Claude Code client offline, against a scripted model.

``client`` starts the client and asks what came of it, ``script`` says what the model
answers, ``mock_api`` is the model, ``sandbox`` keeps everything in and ends it, ``terminal``
is the screen and keyboard of an interactive session, ``require`` finds the programs.
"""
