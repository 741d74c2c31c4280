/** At most 60 columns, the narrowest terminal. */
const HELP: readonly string[] = [
  "↑ ↓ j k        choose a row, scroll",
  "PgUp PgDn g G  page, first, last",
  "enter          detail; of a call, its attempts and reasons",
  "esc            back: from detail, filter, calls of a channel",
  "/              filter; the gateway searches long lists",
  ":              open :channels, :logs, …",
  "s S            sort by the next column, reverse it",
  "r m f          read again, read more rows, follow the logs",
  "l L            failing calls of the channel, all its calls",
  "e d t          enable, disable, test",
  "c x E          copy, delete, edit in $EDITOR",
  "space          mark; an action changes all marked rows",
  "u              undo the last change of an option",
  ":apply FILE    plan of documents; a applies the marked ones",
  "y o            copy the id, open the page of the console",
  "q              quit",
];

/** The keys that a screen has. */
export function helpOf(isReadOnly: boolean): readonly string[] {
  return isReadOnly ? HELP.filter((line) => !CHANGING.test(line)) : HELP;
}

const CHANGING = /^(?:e d t|c x E|u|space|:apply) /;
