/** Members of a list's address that say where the reader is, and not what the list shows. */
const PLACE = ["p", "row", "edit"];

/** The part of an address that a saved view restores, in one spelling for each. */
export function viewQuery(search: string): string {
  const query = new URLSearchParams(search);
  for (const name of PLACE) query.delete(name);
  query.sort();
  return query.toString();
}
