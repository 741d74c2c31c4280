/** Control characters of stored texts must not reach the terminal, nor those that turn the direction of a line. */
export function printable(text: string, allowed = ""): string {
  return text.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, (letter) =>
    allowed.includes(letter) ? letter : "�",
  );
}
