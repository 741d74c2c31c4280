/** Members of a list's address that describe the reader's position, not the content of the list. */
const PLACE = ["p", "row", "edit"];

/** Returns the part of an address that a saved view restores, in a canonical form. */
export function viewQuery(search: string): string {
  const query = new URLSearchParams(search);
  for (const name of PLACE) query.delete(name);
  query.sort();
  return query.toString();
}
