import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useStore } from "../../../lib/store.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { useTexts } from "../texts.ts";
import { madeKey } from "./made-key.ts";

/** The signing key that was just made for this endpoint: it is never shown again. */
export function NewKey({ endpoint }: { readonly endpoint: string }) {
  const t = useTexts();
  const made = useStore(madeKey);
  if (made?.endpoint !== endpoint) return null;
  return (
    <Box role="status" borderWidth="1px" borderRadius="l3" bg="fairway.subtle" p="4">
      <Text fontWeight="medium">{t("keyTitle")}</Text>
      <Text textStyle="sm" color="fg.muted" mb="2">
        {t("keyBody")}
      </Text>
      <Flex align="center" gap="2" wrap="wrap">
        <Text as="code" fontFamily="mono" textStyle="sm" overflowWrap="anywhere" data-testid="signing-key">
          {made.key}
        </Text>
        <CopyButton text={made.key} label={t("copyKey")} />
        <Button size="xs" variant="outline" ms="auto" onClick={() => madeKey.write(undefined)}>
          {t("done")}
        </Button>
      </Flex>
    </Box>
  );
}
