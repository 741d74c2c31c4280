import type { Token } from "@fairway/wire";
import { Button, Dialog, Flex, Portal, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelsQuery } from "../../session/models.ts";
import { useStatus } from "../../session/status.ts";
import { useStore } from "../../lib/store.ts";
import { CodeTabs } from "../../ui/content/code-tabs.tsx";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { baseAddress, maskKey, snippetsFor } from "../../ui/content/snippets.ts";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { createdTokens } from "./created.ts";
import { useTexts } from "./texts.ts";

const FALLBACK_MODEL = "gpt-4o-mini";

/** A model that this token may use, for examples that work as they are. */
function useExampleModel(token: Token): string {
  const models = useQuery(modelsQuery).data ?? [];
  const own = token.model_limits_enabled ? token.model_limits.split(",")[0] : undefined;
  return own || (models.includes(FALLBACK_MODEL) ? FALLBACK_MODEL : (models[0] ?? FALLBACK_MODEL));
}

function Examples(props: { readonly token: Token; readonly isKeyShown: boolean }) {
  const t = useTexts();
  const status = useStatus();
  const model = useExampleModel(props.token);
  const key = `sk-${props.token.key}`;
  const base = baseAddress(status.server_address);
  const shown = { base, model, key: props.isKeyShown ? key : maskKey(props.token.key) };
  return (
    <Flex direction="column" gap="3">
      <Flex align="center" gap="2" textStyle="sm">
        <Text color="fg.muted">{t("baseUrl")}</Text>
        <Text fontFamily="mono" overflowWrap="anywhere">
          {base}
        </Text>
        <CopyButton text={base} label={t("baseUrl")} />
      </Flex>
      <CodeTabs label={t("connect")} copyLabel={t("copySnippet")} snippets={snippetsFor(shown, key)} />
    </Flex>
  );
}

/** How to use a token from an application. */
export function ConnectDialog(props: { readonly token: Token; onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const [isKeyShown, setKeyShown] = useState(false);
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="lg">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title flex="1">{t("connectTitle", { name: props.token.name })}</Dialog.Title>
              <IconButton label={ui("close")} hasTip={false} onClick={props.onClose}>
                <Icon name="close" />
              </IconButton>
            </Dialog.Header>
            <Dialog.Body>
              <Text color="fg.muted" mb="3">
                {t("connectBody")}
              </Text>
              <Examples token={props.token} isKeyShown={isKeyShown} />
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={() => setKeyShown(!isKeyShown)}>
                {t(isKeyShown ? "hideKey" : "putKey")}
              </Button>
              <CopyButton text={`sk-${props.token.key}`} label={t("key")} isPrimary>
                {t("key")}
              </CopyButton>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}

/** Shows new keys in clear, once, with a first request to try. */
export function CreatedDialog() {
  const t = useTexts();
  const tokens = useStore(createdTokens);
  const close = () => createdTokens.write([]);
  const [first] = tokens;
  if (!first) return null;
  const all = tokens.map((token) => `${token.name}    sk-${token.key}`).join("\n");
  return (
    <Dialog.Root
      open
      onOpenChange={(change) => !change.open && close()}
      placement="center"
      size="lg"
      closeOnInteractOutside={false}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>
                {tokens.length === 1 ? t("createdOne") : t("createdMany", { count: tokens.length })}
              </Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <Text color="fg.muted" mb="3">
                {t("createdBody")}
              </Text>
              <Flex as="ul" direction="column" gap="1.5" mb="4" maxH="40" overflowY="auto" listStyleType="none">
                {tokens.map((token) => (
                  <Flex
                    as="li"
                    key={token.id}
                    align="center"
                    gap="2"
                    bg="fairway.subtle"
                    borderRadius="l2"
                    px="3"
                    py="1.5"
                  >
                    <Text fontFamily="mono" textStyle="sm" flex="1" overflowWrap="anywhere" data-testid="new-key">
                      {`sk-${token.key}`}
                    </Text>
                    <CopyButton text={`sk-${token.key}`} label={t("copyKey", { name: token.name })} />
                  </Flex>
                ))}
              </Flex>
              {tokens.length === 1 && <Examples token={first} isKeyShown={false} />}
            </Dialog.Body>
            <Dialog.Footer>
              {tokens.length > 1 && (
                <CopyButton text={all} label={t("copyAll")}>
                  {t("copyAll")}
                </CopyButton>
              )}
              <Button onClick={close}>{t("done")}</Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
