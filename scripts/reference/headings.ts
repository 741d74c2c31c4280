/** Returns the anchor of a heading in GitHub's format, so that one link works on GitHub and on the site. */
export function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
