/** A line of the screen; without colours it says the same. */
export interface Line {
  readonly text: string;
  readonly tone?: "title" | "quiet" | "bad" | "chosen";
}
