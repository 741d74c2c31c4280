import type { Drawing } from "@fairway/wire";
import { useState } from "react";
import { useStatus } from "../../session/status.ts";
import { imageSource } from "./state.ts";
import { useTexts } from "./texts.ts";

/** A small picture that opens the large one. */
export function Thumbnail(props: { readonly row: Drawing; onOpen(row: Drawing): void }) {
  const t = useTexts();
  const { server_address: serverAddress } = useStatus();
  const [isMissing, setMissing] = useState(false);
  const { row } = props;
  if (row.image_url === "") return <span className="soft">–</span>;
  if (isMissing) return <span className="soft">{t("imageGone")}</span>;
  return (
    <button
      type="button"
      className="thumb"
      aria-label={t("openImage", { id: row.mj_id })}
      onClick={() => props.onOpen(row)}
    >
      <img
        src={imageSource(row.image_url, serverAddress)}
        alt=""
        loading="lazy"
        decoding="async"
        referrerPolicy="no-referrer"
        onError={() => setMissing(true)}
      />
    </button>
  );
}
