import { isSecretOption, OPTIONS, type OptionKey } from "@fairway/wire";
import { Box, Flex, Text } from "@chakra-ui/react";
import { formatChange, formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useTexts } from "../texts.ts";
import type { Draft, OptionTexts } from "./draft.ts";
import { listEffects, modelsRepriced, type Effect } from "./effects.ts";
import { useOptionWords } from "./words.ts";

const SHOWN = 8;
const LONGEST = 80;

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** A preview of the changes that saving would make. */
export function Preview(props: { readonly changes: Draft; readonly stored: OptionTexts }) {
  const t = useTexts();
  const language = useLanguage();
  const { changes, stored } = props;
  const repriced = modelsRepriced(changes, stored);
  return (
    <Box role="region" aria-label={t("preview")} bg="bg.subtle" borderRadius="l2" p="3" textStyle="sm">
      <Text fontWeight="semibold" mb="1.5">
        {t("preview")}
      </Text>
      <Flex as="ul" direction="column" gap="2" listStyleType="none">
        {(Object.entries(changes) as [OptionKey, string][]).map(([key, text]) => (
          <Change key={key} name={key} before={stored[key] ?? ""} after={text} />
        ))}
      </Flex>
      {repriced.length > 0 && (
        <Text mt="2">{t("repriced", { count: formatCount(repriced.length, language), models: some(repriced) })}</Text>
      )}
    </Box>
  );
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(", ");
  return names.length > SHOWN ? `${shown}, …` : shown;
}

function Change(props: { readonly name: OptionKey; readonly before: string; readonly after: string }) {
  const t = useTexts();
  const { label } = useOptionWords();
  const { name, before, after } = props;
  const lines = isSecretOption(name) ? [] : listEffects(name, before, after);
  return (
    <Box as="li">
      <Text as="span" fontWeight="medium">
        {label(name)}
      </Text>
      {isSecretOption(name) ? (
        <Text as="span" color="fg.muted">
          {" "}
          {t(after === "" ? "secretEmptied" : "secretReplaced")}
        </Text>
      ) : (
        <Flex as="ul" direction="column" listStyleType="none" ps="3">
          {lines.slice(0, SHOWN).map((line) => (
            <Line key={line.name} line={line} isFlag={OPTIONS[name].type.kind === "flag"} />
          ))}
          {lines.length > SHOWN && <li>{t("moreChanges", { count: lines.length - SHOWN })}</li>}
        </Flex>
      )}
    </Box>
  );
}

function Line({ line, isFlag }: { readonly line: Effect; readonly isFlag: boolean }) {
  const t = useTexts();
  const language = useLanguage();
  const say = (value: string | null) => {
    if (value === null) return t("absentMember");
    if (isFlag) return t(value === "true" ? "isOn" : "isOff");
    return value === "" ? t("emptyValue") : short(value);
  };
  const { times } = line;
  return (
    <Box as="li" overflowWrap="anywhere">
      {line.name !== "" && <Text as="span" fontFamily="mono">{`${line.name}  `}</Text>}
      <Text as="span" color="fg.muted">
        {say(line.before)}
      </Text>
      {" → "}
      {say(line.after)}
      {times !== undefined && <Text as="span" color="fg.muted">{` (${formatChange(times, 1, language, 1)})`}</Text>}
    </Box>
  );
}
