import { Dialog, Portal, Text } from "@chakra-ui/react";
import { useStatus } from "../../session/status.ts";
import { CodeTabs } from "../../ui/content/code-tabs.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { baseAddress } from "../../ui/content/connection.ts";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { snippetsOf } from "./code.ts";
import type { Answer } from "./conversation.ts";
import { useTexts } from "./texts.ts";

interface CodeDialogProps {
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: Answer | undefined;
  onClose(): void;
}

export function CodeDialog(props: CodeDialogProps) {
  const t = useTexts();
  const ui = useUiTexts();
  const { server_address: address } = useStatus();
  const exchange = { answer: props.answer, request: t("codeRequest"), response: t("codeResponse") };
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="lg">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title flex="1">{t("codeTitle")}</Dialog.Title>
              <IconButton label={ui("close")} hasTip={false} onClick={props.onClose}>
                <Icon name="close" />
              </IconButton>
            </Dialog.Header>
            <Dialog.Body maxH="70dvh" overflowY="auto">
              <Text color="fg.muted" mb="3">
                {t("codeBody")}
              </Text>
              <CodeTabs
                label={t("code")}
                copyLabel={t("codeCopy")}
                snippets={snippetsOf(baseAddress(address), props.body, exchange)}
              />
            </Dialog.Body>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
