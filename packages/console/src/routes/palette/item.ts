import type { IconName } from "../../ui/display/icon.tsx";

/** An entry of the palette: a page, or an action. */
export type Item = {
  readonly id: string;
  readonly label: string;
  /** A second name that the search also finds. */
  readonly note?: string;
  /** What else finds it; default: its id, such as the address of a page. */
  readonly term?: string;
  readonly icon: IconName;
  readonly keys?: string;
} & ({ readonly to: string } | { run(): void });
