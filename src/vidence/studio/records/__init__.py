"""The tables of the studio, one file a group. They can be imported once `app.configure` was called."""
