/** At most 60 columns, the narrowest terminal. */
const HELP: readonly string[] = [
  "↑ ↓ j k        choose a row, scroll",
  "PgUp PgDn g G  page, first, last",
  "enter          detail; of a call, its attempts and reasons",
  "esc            back: detail, filter, and the list before",
  "/              filter; the gateway searches long lists",
  "f              filter the logs by a form",
  ":              open :channels, :logs, …; tab completes",
  "s S            sort by the next column, reverse it",
  "v              choose columns; they stay for the next time",
  "r m F          read again, read more rows, follow the logs",
  "l L            failing calls of the channel, all its calls",
  "w              write the rows of the logs to a file",
  "c              create; by the form or in $EDITOR (ctrl-e)",
  "e d t b        enable, disable, test, read the balance",
  "t in a detail  choose the model of the test",
  "D              disable a channel for a time, with a reason",
  "P W            priority and weight of channels",
  "C x E          copy, delete, edit in $EDITOR",
  "space          mark; an action changes all marked rows",
  "u              undo the last change of an option or channel",
  ":apply FILE    plan of documents; a applies the marked ones",
  ":apply --prune FILE    also what they no longer name",
  "y o            copy the id, open the page of the console",
  "ctrl-z         suspend; fg comes back",
  "q              quit",
];

/** Returns the keys of a screen. */
export function listHelpLines(isReadOnly: boolean): readonly string[] {
  return isReadOnly ? HELP.filter((line) => !CHANGING.test(line)) : HELP;
}

const CHANGING = /^(?:c|e d t b|D|P W|C x E|u|space|:apply.*?) /;
