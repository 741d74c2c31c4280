import { Text } from "@chakra-ui/react";
import type { TokenFacts } from "@fairway/wire";
import type { ReactNode } from "react";
import { StateMark } from "../../../shared/tokens/state-mark.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { useTokenFacts } from "../facts.tsx";
import { useTexts } from "../texts.ts";

interface FactsPanelProps {
  readonly token: TokenFacts;
  /** The owner, if that is not the reader. */
  readonly owner: ReactNode;
}

/** Owner, state, permissions and last use of a token. */
export function FactsPanel({ token, owner }: FactsPanelProps) {
  const t = useTexts();
  const facts: readonly (readonly [string, ReactNode])[] = [
    ...(owner === undefined ? [] : [[t("owner"), owner] as const]),
    [t("state"), <StateMark key="state" token={token} />],
    ...useTokenFacts(token),
  ];
  return (
    <Panel title={t("facts")} count={facts.length} empty="">
      {facts.map(([name, value]) => (
        <PanelRow key={name}>
          <Text color="fg.muted" width="32" flex="none">
            {name}
          </Text>
          <Text as="div" flex="1" minW="0" overflowWrap="anywhere">
            {value}
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
