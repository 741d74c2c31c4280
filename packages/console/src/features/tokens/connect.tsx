import type { Token } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useStore } from "../../lib/store.ts";
import { Connect } from "../../shared/connect/connect.tsx";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { createdTokens } from "./created.ts";
import { useTexts } from "./texts.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

/** Shows how to use a token in an application. */
export function ConnectDialog(props: { readonly token: Token; onClose(): void }) {
  const t = useTexts();
  return (
    <Modal
      title={t("connectTitle", { name: props.token.name })}
      lead={t("connectBody")}
      hasCross
      size="lg"
      body={{ maxH: "78dvh", overflowY: "auto" }}
      onClose={props.onClose}
    >
      <Connect token={props.token} />
    </Modal>
  );
}

/** Shows new keys in clear text, once, with a first request to try. */
export function CreatedDialog() {
  const t = useTexts();
  const tokens = useStore(createdTokens);
  const close = () => createdTokens.write([]);
  const [first] = tokens;
  if (!first) return null;
  const all = tokens.map((token) => `${token.name}    sk-${token.key}`).join("\n");
  return (
    <Modal
      title={tokens.length === 1 ? t("createdOne") : t("createdMany", { count: tokens.length })}
      lead={t("createdBody")}
      size="lg"
      closeOnInteractOutside={false}
      body={{ maxH: "78dvh", overflowY: "auto" }}
      onClose={close}
      footer={
        <>
          {tokens.length > 1 && (
            <CopyButton text={all} label={t("copyAll")}>
              {t("copyAll")}
            </CopyButton>
          )}
          <Button onClick={close}>{t("done")}</Button>
        </>
      }
    >
      <Flex as="ul" direction="column" gap="1.5" mb="4" maxH="40" overflowY="auto" listStyleType="none">
        {tokens.map((token) => (
          <Flex as="li" key={token.id} align="center" gap="2" bg="fairway.subtle" borderRadius="l2" px="3" py="1.5">
            <Text fontFamily="mono" textStyle="sm" flex="1" overflowWrap="anywhere" data-testid="new-key">
              {`sk-${token.key}`}
            </Text>
            <CopyButton text={`sk-${token.key}`} label={t("copyKey", { name: token.name })} />
          </Flex>
        ))}
      </Flex>
      {tokens.length === 1 && <Connect token={first} isPrimary />}
    </Modal>
  );
}
