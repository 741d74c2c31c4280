import { Box, Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useEffect, useRef } from "react";
import { useStatus } from "../../../session/status.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { useUnsavedGuard } from "../../../ui/feedback/unsaved-guard.ts";
import { useTexts } from "../texts.ts";

/** The recovery codes, shown only once, to copy or to save as a file. */
export function RecoveryCodes(props: { readonly codes: readonly string[]; onDone(): void }) {
  const t = useTexts();
  const { system_name: systemName } = useStatus();
  // They cannot be shown a second time.
  useUnsavedGuard(true);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const text = props.codes.join("\n");
  return (
    <Flex
      ref={box}
      tabIndex={-1}
      role="group"
      aria-label={t("recoveryCodes")}
      direction="column"
      gap="3"
      borderWidth="1px"
      borderRadius="l2"
      p="4"
      outline="none"
    >
      <Text fontWeight="medium">{t("recoveryCodes")}</Text>
      <Text textStyle="sm" color="fg.muted">
        {t("recoveryOnce")}
      </Text>
      <SimpleGrid as="ul" columns={{ base: 1, sm: 2 }} gap="1" listStyleType="none">
        {props.codes.map((code) => (
          <Box as="li" key={code} fontFamily="mono" textStyle="sm" data-testid="recovery-code">
            {code}
          </Box>
        ))}
      </SimpleGrid>
      <Flex gap="2" wrap="wrap">
        <CopyButton text={text} label={t("copyCodes")}>
          {t("copyCodes")}
        </CopyButton>
        <Button asChild variant="outline">
          <a
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
            download={`${systemName}-recovery-codes.txt`}
          >
            {t("downloadCodes")}
          </a>
        </Button>
        <Button onClick={props.onDone}>{t("codesSaved")}</Button>
      </Flex>
    </Flex>
  );
}
