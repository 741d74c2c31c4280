import { Box, Flex, NativeSelect, Text } from "@chakra-ui/react";
import { Link } from "react-router";
import { PERSONAL_PARTS, personalId } from "../personal/parts.ts";
import { useTexts } from "../texts.ts";
import { listSections, type SectionId, type Tab } from "./sections.ts";
import "./index-nav.css";

interface Entry {
  readonly to: string;
  readonly label: string;
  readonly isHere: boolean;
  readonly hasChanges: boolean;
}

interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

interface IndexProps {
  readonly isRoot: boolean;
  readonly tab: Tab;
  readonly section: SectionId | undefined;
  /** Sections with unsaved changes. */
  readonly changed: ReadonlySet<SectionId>;
}

/** Pages outside the settings that belong to them for a reader. */
function buildLink(to: string, label: string): Entry {
  return { to, label, isHere: false, hasChanges: false };
}

function useGroups({ isRoot, tab, section, changed }: IndexProps): readonly Group[] {
  const t = useTexts();
  const own: Group = {
    title: t("personal"),
    entries: [
      ...PERSONAL_PARTS.map((part, index) => ({
        to: index === 0 ? "/setting" : `/setting#${personalId(part)}`,
        label: t(part),
        isHere: tab === "personal" && index === 0,
        hasChanges: false,
      })),
      buildLink("/webhook", t("webhooks")),
    ],
  };
  if (!isRoot) return [own];
  const prices: Entry = {
    to: "/setting?tab=prices",
    label: t("priceTable"),
    isHere: tab === "prices",
    hasChanges: false,
  };
  const groups = (["operation", "system", "other"] as const).map((name): Group => {
    const sections = listSections(name).map((entry): Entry => ({
      to: `/setting?tab=${name}&section=${entry.id}`,
      label: t(entry.title),
      isHere: tab === name && section === entry.id,
      hasChanges: changed.has(entry.id),
    }));
    const more = {
      operation: [buildLink("/operator-webhook", t("operatorWebhooks"))],
      system: [
        buildLink("/identity-provider", t("identityProviders")),
        buildLink("/service-account", t("serviceAccounts")),
      ],
      other: [],
    }[name];
    return { title: t(name), entries: [...(name === "operation" ? [prices] : []), ...sections, ...more] };
  });
  return [own, ...groups];
}

/** The sections of the settings: a list at the side, or a select box on small screens. */
export function IndexNav(props: IndexProps & { go(to: string): void }) {
  const t = useTexts();
  const groups = useGroups(props);
  const here = groups.flatMap(({ entries }) => entries).find(({ isHere }) => isHere);
  return (
    <>
      <Box as="nav" aria-label={t("index")} className="settings-index" hideBelow="md">
        {groups.map((group) => (
          <Box key={group.title} mb="3">
            <Text as="h2" textStyle="xs" fontWeight="semibold" color="fg.muted" px="2.5" mb="1">
              {group.title}
            </Text>
            <ul>
              {group.entries.map((entry) => (
                <li key={entry.to}>
                  <Link to={entry.to} aria-current={entry.isHere ? "page" : undefined}>
                    <span>{entry.label}</span>
                    {entry.hasChanges && <span className="settings-changed" role="img" aria-label={t("unsaved")} />}
                  </Link>
                </li>
              ))}
            </ul>
          </Box>
        ))}
      </Box>
      <Flex hideFrom="md" width="full">
        <NativeSelect.Root>
          <NativeSelect.Field
            aria-label={t("index")}
            value={here?.to ?? ""}
            onChange={(event) => props.go(event.target.value)}
          >
            {groups.map((group) => (
              <optgroup key={group.title} label={group.title}>
                {group.entries.map((entry) => (
                  <option key={entry.to} value={entry.to}>
                    {entry.label}
                  </option>
                ))}
              </optgroup>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
      </Flex>
    </>
  );
}
