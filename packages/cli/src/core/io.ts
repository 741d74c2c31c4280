/** The parts of the process that a command uses. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly width: number | undefined;
  readonly isTerminal: boolean;
  /** Whether a program or a file gets the output, also where the width of a terminal is unknown. */
  readonly isPiped: boolean;
  readonly nowSeconds: () => number;
  /** Disables prompts. */
  closeInput(): void;
  /** Prints times in UTC from now on. */
  useUtc(): void;
  /** Writes data as it is, without a line end. */
  write(text: string): void;
  out(text: string): void;
  /** Undefined while the reader of the output keeps up; otherwise a promise to await before writing more. */
  room(): Promise<void> | undefined;
  note(text: string): void;
}
