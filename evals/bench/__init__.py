"""Side by side in one run: search and plain libraries, the text API and bare FastAPI, our client and none."""
