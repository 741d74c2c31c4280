import { Flex, Input, Text } from "@chakra-ui/react";
import { DEBOUNCE_MS } from "../../ui/grid/use-draft.ts";
import { useEffect, useState } from "react";
import { parseCount } from "./estimate.ts";
import { useTexts } from "./texts.ts";

export interface UsualTexts {
  readonly in: string;
  readonly out: string;
  readonly n: string;
}

function Count(props: { readonly label: string; readonly value: string; change(value: string): void }) {
  const { value, change } = props;
  const [draft, setDraft] = useState(value);
  const [known, setKnown] = useState(value);
  // Other parts also change the address, for example when all filters are cleared.
  if (known !== value) {
    setKnown(value);
    setDraft(value);
  }
  useEffect(() => {
    if (draft === value) return;
    const timer = setTimeout(() => change(draft), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <Text
      as="label"
      display="inline-flex"
      alignItems="center"
      justifyContent="space-between"
      gap="2"
      textStyle="sm"
      width={{ base: "full", sm: "auto" }}
    >
      {props.label}
      <Input
        size="sm"
        width="24"
        inputMode="numeric"
        value={draft}
        aria-invalid={draft !== "" && parseCount(draft) === 0}
        onChange={(event) => setDraft(event.target.value)}
      />
    </Text>
  );
}

/** The fields of a typical request; the list then shows what many of them cost. */
export function Calculator(props: { readonly usual: UsualTexts; change(usual: Partial<UsualTexts>): void }) {
  const t = useTexts();
  const { usual, change } = props;
  return (
    <Flex
      role="group"
      aria-label={t("calculator")}
      gap="4"
      rowGap="2"
      align="center"
      wrap="wrap"
      bg="bg.panel"
      borderWidth="1px"
      borderRadius="l3"
      px="4"
      py="2.5"
      mb="3"
    >
      <Text fontWeight="medium">{t("calculator")}</Text>
      <Count label={t("calcRequests")} value={usual.n} change={(n) => change({ n })} />
      <Count label={t("calcInput")} value={usual.in} change={(next) => change({ in: next })} />
      <Count label={t("calcOutput")} value={usual.out} change={(out) => change({ out })} />
    </Flex>
  );
}
