const PATHS = {
  home: "M4 11 12 4l8 7M6 10v10h12V10M10 20v-6h4v6",
  key: "M8 11.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM11 13l9-9M16 8l3 3M13.5 10.5l2 2",
  log: "M5 4h14v16H5zM9 9h6M9 13h6M9 17h3",
  channel: "M4 18c3-2.4 5-2.4 8 0s5 2.4 8 0M7 14V7h3v7M14 14l2.5-8 2.5 8z",
  menu: "M4 7h16M4 12h16M4 17h16",
  zoomOut: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12ZM16 16l4 4M8.5 11h5",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12ZM16 16l4 4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19",
  moon: "M19 14.5A7.5 7.5 0 0 1 9.5 5 7.5 7.5 0 1 0 19 14.5Z",
  globe:
    "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c2.5 2.6 3.7 5.6 3.7 9s-1.2 6.4-3.7 9c-2.5-2.6-3.7-5.6-3.7-9S9.5 5.6 12 3Z",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 17v.01",
  exit: "M14 4H6v16h8M10 12h10M17 8.5 20.5 12 17 15.5",
  plus: "M12 5v14M5 12h14",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5 10 17.5 19 7",
  close: "M6 6l12 12M18 6 6 18",
  down: "M6 9.5 12 15.5 18 9.5",
  download: "M12 4v11.5M7 11l5 5 5-5M5 20h14",
  right: "M9.5 6 15.5 12 9.5 18",
  left: "M14.5 6 8.5 12 14.5 18",
  play: "M8 5.5v13l10.5-6.5z",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  eye: "M2.5 12S6 6 12 6s9.5 6 9.5 6-3.5 6-9.5 6-9.5-6-9.5-6ZM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z",
  eyeOff:
    "M4 4l16 16M9.5 6.4A9 9 0 0 1 12 6c6 0 9.5 6 9.5 6a17 17 0 0 1-3 3.6M6.3 8A16 16 0 0 0 2.5 12S6 18 12 18a9 9 0 0 0 3.6-.7M10.2 10.2a2.5 2.5 0 0 0 3.6 3.6",
  refresh: "M19 12a7 7 0 1 1-2.2-5.1L19 9M19 4v5h-5",
  warning: "M12 4 2.8 20h18.4zM12 10v5M12 17.5v.01",
  sidebar: "M4 5h16v14H4zM9.5 5v14",
  external: "M14 4h6v6M20 4l-9 9M18 13v7H4V6h7",
  pause: "M9 6v12M15 6v12",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  up: "M6 14.5 12 8.5 18 14.5",
  filter: "M4 6h16M7 12h10M10 18h4",
  users:
    "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM2.5 20c.6-3.4 3-5.5 6.5-5.5s5.9 2.1 6.5 5.5M16 5.3a3.5 3.5 0 0 1 0 6.4M18 14.9c2 .8 3.2 2.6 3.5 5.1",
  settings:
    "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM9 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z",
  wallet: "M4 7h14a2 2 0 0 1 2 2v9H6a2 2 0 0 1-2-2V7ZM4 7l11-3v3M16 13h.01",
  price: "M4 12V4h8l8 8-8 8zM8 8v.01",
  ticket: "M4 7h16v3.5a1.5 1.5 0 0 0 0 3V17H4v-3.5a1.5 1.5 0 0 0 0-3zM14 7v10",
  chart: "M4 4v16h16M8.5 16v-4M12.5 16V8M16.5 16v-6",
  image: "M4 5h16v14H4zM8.5 8.5v.01M4 16l5-5 4 4 3-3 4 4",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 7v5l3.5 2",
  budget: "M12 4a8 8 0 1 0 8 8h-8ZM15 3.6A8 8 0 0 1 20.4 9H15Z",
  audit: "M9 4h6v3H9zM9 5H6v15h12V5h-3M9 12l2 2 4-4M9 17h6",
  file: "M6 3h8l4 4v14H6zM14 3v4h4M9.5 14l2-2-2-2M13 15h2",
  stop: "M6 6h12v12H6z",
  send: "M4 12 20 4l-5 16-3.5-6.5zM11.5 13.5 20 4",
  code: "M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5M13.5 5l-3 14",
  chat: "M4 5h16v11H11l-4.5 4v-4H4zM8.5 10.5h.01M12 10.5h.01M15.5 10.5h.01",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v6M12 7.5v.01",
  lantern: "M12 3v3M8.5 6h7M8.5 18h7M8.5 6C5 8.5 5 15.5 8.5 18M15.5 6c3.5 2.5 3.5 9.5 0 12M12 6v12M12 18v3",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4",
  layers: "M12 4 20 8l-8 4-8-4zM4 12l8 4 8-4M4 16l8 4 8-4",
  paper: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  sum: "M18 7V5H6l7 7-7 7h12v-2",
  rows: "M4 6h16M4 10h16M4 14h16M4 18h16",
} as const;

export type IconName = keyof typeof PATHS;

export function isIconName(name: string): name is IconName {
  return Object.hasOwn(PATHS, name);
}

export function Icon(props: { readonly name: IconName; readonly size?: number }) {
  const size = props.size ?? 16;
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={props.name === "dots" ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[props.name]} />
    </svg>
  );
}
