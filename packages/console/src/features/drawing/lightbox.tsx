import type { Drawing } from "@fairway/wire";
import { Button, Text } from "@chakra-ui/react";
import { useStatus } from "../../session/status.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { imageSource } from "./state.ts";
import { useTexts } from "./texts.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

/** The image as large as the window allows, with the prompt that made it. */
export function Lightbox(props: { readonly row: Drawing; onClose(): void }) {
  const t = useTexts();
  const { server_address: serverAddress } = useStatus();
  const { row } = props;
  const source = imageSource(row.image_url, serverAddress);
  return (
    <Modal
      title={t("imageOf", { id: row.mj_id })}
      hasCross
      size="xl"
      onClose={props.onClose}
      footer={
        <Button asChild variant="outline">
          <a href={source} target="_blank" rel="noopener noreferrer">
            <Icon name="external" />
            {t("original")}
          </a>
        </Button>
      }
    >
      <img className="lightbox" src={source} alt={row.prompt || t("noPrompt")} referrerPolicy="no-referrer" />
      <Text mt="3" color="fg.muted" maxH="24" overflowY="auto">
        {row.prompt}
      </Text>
    </Modal>
  );
}
