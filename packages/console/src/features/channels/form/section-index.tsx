import { Button, Flex } from "@chakra-ui/react";
import { useTexts } from "../texts.ts";

export type SectionName =
  | "sectionProvider"
  | "sectionConnection"
  | "sectionKeys"
  | "sectionModels"
  | "sectionRouting"
  | "sectionRewrites"
  | "sectionHealth";

/** Returns the id of the element that holds a section of the form. */
export function sectionAnchor(name: SectionName): string {
  return `channel-${name}`;
}

/** Links to the sections of a form that is longer than the window; a link focuses the first field of its section. */
export function SectionIndex({ names }: { readonly names: readonly SectionName[] }) {
  const t = useTexts();
  const open = (name: SectionName) => {
    const section = document.getElementById(sectionAnchor(name));
    section?.scrollIntoView({ block: "start" });
    section?.querySelector<HTMLElement>("input, select, textarea, button")?.focus({ preventScroll: true });
  };
  return (
    <Flex as="nav" aria-label={t("formIndex")} gap="1" px="4" py="1.5" borderBottomWidth="1px" wrap="wrap">
      {names.map((name) => (
        <Button key={name} size="xs" variant="ghost" color="fg.muted" onClick={() => open(name)}>
          {t(name)}
        </Button>
      ))}
    </Flex>
  );
}
