import type { Drawing } from "@fairway/wire";
import { Button, Dialog, Portal, Text } from "@chakra-ui/react";
import { useStatus } from "../../session/status.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { imageSource } from "./state.ts";
import { useTexts } from "./texts.ts";

/** The image as large as the window allows, with the prompt that made it. */
export function Lightbox(props: { readonly row: Drawing; onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const { server_address: serverAddress } = useStatus();
  const { row } = props;
  const source = imageSource(row.image_url, serverAddress);
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="xl">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title flex="1">{t("imageOf", { id: row.mj_id })}</Dialog.Title>
              <IconButton label={ui("close")} hasTip={false} onClick={props.onClose}>
                <Icon name="close" />
              </IconButton>
            </Dialog.Header>
            <Dialog.Body>
              <img className="lightbox" src={source} alt={row.prompt || t("noPrompt")} referrerPolicy="no-referrer" />
              <Text mt="3" color="fg.muted" maxH="24" overflowY="auto">
                {row.prompt}
              </Text>
            </Dialog.Body>
            <Dialog.Footer>
              <Button asChild variant="outline">
                <a href={source} target="_blank" rel="noopener noreferrer">
                  <Icon name="external" />
                  {t("original")}
                </a>
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
