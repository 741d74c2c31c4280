/** Returns code as a fenced block of a text. */
export function fenced(language: string, code: string): string {
  return `\n\`\`\`${language}\n${code}\n\`\`\`\n`;
}
