// The guide has no code: its pages are in Latchkey.docc.
