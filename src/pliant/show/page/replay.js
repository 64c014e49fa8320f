// A page that contains a run plays it.

window.pliant = new Player(readRun());
