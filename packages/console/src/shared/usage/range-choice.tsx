import { Button, Flex } from "@chakra-ui/react";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { USAGE_RANGES, type UsageRange } from "./period.ts";

const TEXT = { "24h": "last24h", "7d": "last7d", "30d": "last30d" } as const;

/** The time range of a page's figures. */
export function RangeChoice(props: { readonly range: UsageRange; choose(range: UsageRange): void }) {
  const t = useUiTexts();
  return (
    <Flex role="group" aria-label={t("timeRange")} borderWidth="1px" borderRadius="l2" p="0.5" gap="0.5" bg="bg.panel">
      {USAGE_RANGES.map((name) => {
        const isOn = name === props.range;
        return (
          <Button
            key={name}
            size="xs"
            h="7"
            variant="ghost"
            aria-pressed={isOn}
            bg={isOn ? "fairway.subtle" : "transparent"}
            color={isOn ? "fairway.fg" : "fg.muted"}
            onClick={() => props.choose(name)}
          >
            {t(TEXT[name])}
          </Button>
        );
      })}
    </Flex>
  );
}
