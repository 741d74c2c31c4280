import type { IdentityProvider } from "@fairway/wire";
import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import { useState } from "react";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { When } from "../../../ui/display/when.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { endDirectoryTokens, makeDirectoryToken } from "../api.ts";
import { useTexts } from "../texts.ts";

/** The tokens with which the company's directory writes; a new one is shown once. */
export function Directory({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  const [token, setToken] = useState<string>();
  const count = row.scim_tokens.length;
  const make = () => void makeDirectoryToken(row.id).then(setToken, toastProblem);
  const end = async () => {
    const question = { title: t("endTitle", { name: row.name }), body: t("endBody"), confirm: t("end") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await endDirectoryTokens(row.id).then(() => {
      setToken(undefined);
      toast("success", t("ended"));
    }, toastProblem);
  };
  return (
    <Box as="section" borderWidth="1px" borderRadius="l3" bg="bg.panel" p="4">
      <Flex align="center" gap="3" wrap="wrap">
        <Heading as="h2" textStyle="md" flex="1">
          {t("directory")}
        </Heading>
        {count > 0 && (
          <Button variant="outline" onClick={() => void end()}>
            {t("end")}
          </Button>
        )}
        <Button variant="outline" onClick={make}>
          {t(count === 0 ? "makeToken" : "makeNext")}
        </Button>
      </Flex>
      <Text textStyle="sm" color="fg.muted" mt="1">
        {t(count === 0 ? "directoryOff" : "directoryOn")}
      </Text>
      {row.scim_tokens.map((at) => (
        <Text key={at} textStyle="sm" mt="1">
          {t("tokenOf")} <When at={at} />
        </Text>
      ))}
      {token !== undefined && (
        <Box role="status" borderWidth="1px" borderRadius="l2" bg="fairway.subtle" p="3" mt="3">
          <Text fontWeight="medium">{t("tokenTitle")}</Text>
          <Flex align="center" gap="2" wrap="wrap">
            <Text as="code" fontFamily="mono" textStyle="sm" overflowWrap="anywhere" data-testid="scim-token">
              {token}
            </Text>
            <CopyButton text={token} label={t("copyToken")} />
            <Button size="xs" variant="outline" ms="auto" onClick={() => setToken(undefined)}>
              {t("done")}
            </Button>
          </Flex>
        </Box>
      )}
    </Box>
  );
}
