/**
 * The form under which two names are the same for a reader: compatible letters (`ｒ` and `r`), letter case in all
 * alphabets (`ß` and `SS`, `ſ` and `s`, both sigmas) and letters that show nothing do not count.
 */
export function nameKey(name: string): string {
  const compatible = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // JavaScript has no case folding: by way of capitals, letters meet that have one capital together.
  const folded = compatible.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
  return folded.normalize("NFKC");
}
