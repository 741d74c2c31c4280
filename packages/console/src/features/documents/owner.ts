import type { useTexts } from "./texts.ts";

/** Describes who manages a document, if its manager follows the usual names. */
export function ownerText(owner: string, t: ReturnType<typeof useTexts>): string {
  const [kind, ...rest] = owner.split(":");
  const name = rest.join(":");
  switch (kind) {
    case "git":
      return t("ownerGit", { name });
    case "folder":
      return t("ownerFolder", { name });
    case "kubernetes":
      return t("ownerKubernetes", { name });
    default:
      return owner;
  }
}
