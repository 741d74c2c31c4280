/**
 * Removes control characters and those that change the direction of a line: stored texts must not send them to the
 * terminal.
 */
export function printable(text: string, allowed = ""): string {
  return text.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, (letter) =>
    allowed.includes(letter) ? letter : "�",
  );
}
