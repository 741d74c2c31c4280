/** At most 60 columns, the narrowest terminal. */
const COMMON: readonly string[] = [
  "tab            the next pane below: calls, models, users",
  "1 2 3 4        sums of 1 min, 5 min, 1 h or 24 h",
  "+ -            read less often, more often",
  "p r            pause, read at once",
  "l              the log; of the chosen channel where it is one",
  "?              this list",
  "q esc          back, quit",
];

const OF_ADMINISTRATORS: readonly string[] = [
  "↑ ↓ j k        choose a channel",
  "PgUp PgDn g G  page, first, last",
  "enter          all about the chosen channel",
  "s /            sort, filter",
  "t e d          test, enable, disable",
  "y o            copy the id, open the page of the console",
];

/** Returns the keys of the screen; users see no channels. */
export function listHelpLines(isAdmin: boolean): readonly string[] {
  return isAdmin ? [...OF_ADMINISTRATORS, ...COMMON] : COMMON;
}
