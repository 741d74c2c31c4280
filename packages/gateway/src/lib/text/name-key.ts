/**
 * Returns the form in which two names are equal if they look the same to a reader: it ignores compatible letters (`ｒ`
 * and `r`), letter case in all alphabets (`ß` and `SS`, `ſ` and `s`, both sigmas) and invisible characters.
 */
export function nameKey(name: string): string {
  const compatible = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // JavaScript has no case folding; converting to upper case first unites letters that share one capital.
  const folded = compatible.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
  return folded.normalize("NFKC");
}
