/** A line of the screen; colours carry no information of their own. */
export interface Line {
  readonly text: string;
  readonly tone?: "title" | "quiet" | "bad" | "chosen";
}
