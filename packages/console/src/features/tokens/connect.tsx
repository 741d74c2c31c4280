import type { Token } from "@fairway/wire";
import { Button, Dialog, Flex, Portal, Text } from "@chakra-ui/react";
import { useStore } from "../../lib/store.ts";
import { Connect } from "../../shared/connect/connect.tsx";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { createdTokens } from "./created.ts";
import { useTexts } from "./texts.ts";

/** How to use a token from an application. */
export function ConnectDialog(props: { readonly token: Token; onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
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
            <Dialog.Body maxH="78dvh" overflowY="auto">
              <Text color="fg.muted" mb="3">
                {t("connectBody")}
              </Text>
              <Connect token={props.token} />
            </Dialog.Body>
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
            <Dialog.Body maxH="78dvh" overflowY="auto">
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
              {tokens.length === 1 && <Connect token={first} isPrimary />}
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
