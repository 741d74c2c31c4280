import { Box, Button, Flex, Input, Text } from "@chakra-ui/react";
import { MAX_SHARE_WEIGHT, NO_TAG_VALUE, OTHER_VALUE, type UsageReport } from "@fairway/wire";
import { useLanguage } from "../../../lib/i18n.ts";
import { readState } from "../../../lib/url-state.ts";
import { useShortened } from "../../../ui/display/shortened.tsx";
import { FilterSelect } from "../../../ui/grid/filter-bar.tsx";
import "../../../ui/grid/data-grid.css";
import { useDraft } from "../../../ui/grid/use-draft.ts";
import { DEFAULTS, type Question } from "../api.ts";
import type { Reader } from "../reader.ts";
import { useTexts, type Texts } from "../texts.ts";
import {
  chooseSplit,
  findSplit,
  listValues,
  readSharing,
  setWeight,
  SPLITS,
  toggleValue,
  writeSharing,
  type Sharing,
} from "./sharing.ts";

const SPLIT_TEXTS = { proportional: "splitProportional", even: "splitEven", weights: "splitWeights" } as const;
const MEANINGS = { proportional: "sharedByCost", even: "sharedEvenly", weights: "sharedByWeight" } as const;
/** More names would hide what the sentence says. */
const MAX_NAMED = 4;

function formatName(value: string, t: Texts): string {
  if (value === NO_TAG_VALUE) return t("untagged");
  return value === OTHER_VALUE ? t("other") : value;
}

type Edit = (step: (sharing: Sharing) => Sharing) => void;

interface PartProps {
  readonly sharing: Sharing;
  readonly known: readonly string[];
  readonly edit: Edit;
}

/** The values of the tag; those that are pressed are shared. */
function Values({ sharing, known, edit }: PartProps) {
  const t = useTexts();
  const { shown, more } = useShortened(known);
  const hidden = sharing.values.filter((value) => !shown.includes(value));
  return (
    <Box>
      <Flex role="group" aria-label={t("sharedValues", { key: sharing.key })} gap="1.5" wrap="wrap">
        {[...shown, ...hidden].map((value) => {
          const isShared = sharing.values.includes(value);
          return (
            <Button
              key={value}
              size="xs"
              variant="outline"
              maxW="full"
              aria-pressed={isShared}
              color={isShared ? "fairway.fg" : "fg"}
              bg={isShared ? "fairway.subtle" : undefined}
              onClick={() => edit((now) => toggleValue(now, value))}
            >
              <Box as="bdi" className="cut">
                {formatName(value, t)}
              </Box>
            </Button>
          );
        })}
      </Flex>
      {more}
    </Box>
  );
}

function isWeight(text: string): boolean {
  return text === "" || (/^\d{1,7}$/.test(text) && Number(text) <= MAX_SHARE_WEIGHT);
}

function Weight({ sharing, value, edit }: Omit<PartProps, "known"> & { readonly value: string }) {
  const t = useTexts();
  const name = formatName(value, t);
  const { draft, setDraft, apply } = useDraft(sharing.weights.get(value) ?? "0", (text) => {
    if (isWeight(text)) edit((now) => setWeight(now, value, text));
  });
  return (
    <Flex as="label" align="center" gap="1.5" maxW="full" textStyle="sm">
      <Box as="bdi" className="cut">
        {name}
      </Box>
      <Input
        size="xs"
        width="72px"
        inputMode="numeric"
        autoComplete="off"
        aria-label={t("weightOf", { name })}
        aria-invalid={!isWeight(draft.trim())}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={apply}
        onKeyDown={(event) => event.key === "Enter" && apply()}
      />
    </Flex>
  );
}

/** How much each of the other values bears. */
function Weights({ sharing, known, edit }: PartProps) {
  const t = useTexts();
  const names = [...new Set([...known, ...sharing.weights.keys()])].filter((name) => !sharing.values.includes(name));
  const { shown, more } = useShortened(names);
  return (
    <Box>
      <Flex role="group" aria-label={t("weights")} gap="3" rowGap="1.5" wrap="wrap">
        {shown.map((value) => (
          <Weight key={value} {...{ sharing, value, edit }} />
        ))}
      </Flex>
      {more}
    </Box>
  );
}

/** Says in one sentence what the choices do. */
function Meaning({ sharing: { key, values, split } }: Pick<PartProps, "sharing">) {
  const t = useTexts();
  const language = useLanguage();
  const named = values.map((value) => formatName(value, t));
  const names =
    named.length > MAX_NAMED
      ? t("countedValues", { count: named.length })
      : new Intl.ListFormat(language, { type: "conjunction" }).format(named);
  return (
    <Text role="status" textStyle="sm" color="fg.muted">
      {values.length === 0 ? t("chooseShared", { key }) : t(MEANINGS[split], { names, key })}
    </Text>
  );
}

interface SharedCostProps {
  readonly sharing: Sharing;
  /** Undefined until the first rows arrive. */
  readonly report: UsageReport | undefined;
  readonly reader: Reader;
  change(change: Partial<Question>): void;
}

/** Chooses the values of a tag whose cost the others share, and how. */
export function SharedCost({ sharing, report, reader, change }: SharedCostProps) {
  const t = useTexts();
  const { key, split } = sharing;
  const known = report ? listValues(report, key) : [];
  // Starts from the address itself, because several choices may be made before the page renders the first.
  const edit: Edit = (step) => {
    const now = readSharing(readState(new URLSearchParams(location.search), DEFAULTS), reader);
    if (now) change(writeSharing(step(now)));
  };
  return (
    <Flex
      as="section"
      aria-label={t("sharedCost")}
      direction="column"
      gap="3"
      mb="3"
      p="3"
      bg="bg.panel"
      borderWidth="1px"
      borderRadius="l3"
    >
      <Flex gap="3" align="flex-start" wrap="wrap" justify="space-between">
        <Box flex="1" minW="0">
          <Values {...{ sharing, known, edit }} />
        </Box>
        <FilterSelect
          label={t("split")}
          width="200px"
          value={split}
          choices={SPLITS.map((name) => ({ value: name, label: t(SPLIT_TEXTS[name]) }))}
          onChange={(name) => edit((now) => chooseSplit(now, findSplit(name), known))}
        />
      </Flex>
      {split === "weights" && <Weights {...{ sharing, known, edit }} />}
      <Meaning sharing={sharing} />
    </Flex>
  );
}
