import type { useTexts } from "./texts.ts";

/** Who keeps a document, in words, where its manager follows the usual names. */
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
