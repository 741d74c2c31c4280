/**
 * Escapes a cell. Spreadsheets run cells that begin with these signs, also wide ones, as formulas; a leading apostrophe
 * makes them text.
 */
export function csvCell(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
