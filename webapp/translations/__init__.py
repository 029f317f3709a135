"""The words of the pages. German is written in the code and templates; `en` translates it; `de` holds the few messages
that are written in English because the command line shows them too.

After a change of words: edit the .po files by hand, then compile them (tests fail until both are done):

    pybabel compile -d webapp/translations
"""
