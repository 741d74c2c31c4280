/** Makes the terminal copy a text to the clipboard of its machine, also over ssh (OSC 52). Returns the notice. */
export function copyToClipboard(text: string): string {
  process.stdout.write(`\u001B]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  return `Copied ${text}.`;
}
