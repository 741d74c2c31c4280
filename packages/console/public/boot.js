// Runs before the first paint and before the application; an external file because the content security policy forbids
// inline scripts.
// The theme, so that nothing flashes.
(function () {
  var mode = null;
  try {
    mode = localStorage.getItem("theme-mode");
  } catch {
    mode = null;
  }
  if (mode !== "dark" && mode !== "light") {
    mode = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.classList.add(mode);
  document.documentElement.style.colorScheme = mode;
})();

// Loads what the page at this address needs, in addition to the application's own files.
(function () {
  var known = document.currentScript && document.currentScript.dataset.preload;
  if (!known) return;
  var map = JSON.parse(known);
  var path = location.pathname;
  // Drawers open over their list.
  var list = /^(\/\w+)\/(add|edit\b)/.exec(path);
  (map.pages[list ? list[1] : path] || map.frame).forEach(function (index) {
    var link = document.createElement("link");
    link.href = "/" + map.files[index];
    if (link.href.endsWith(".css")) {
      link.rel = "preload";
      link.as = "style";
    } else {
      link.rel = "modulepreload";
    }
    link.crossOrigin = "";
    document.head.append(link);
  });
})();

// Requests answers that the page needs before it can start; the application takes them from here.
(function () {
  var addresses = ["/api/status"];
  if (location.pathname === "/") addresses.push("/api/home_page_content", "/api/notice");
  var answers = {};
  addresses.forEach(function (address) {
    var answer = fetch(address, { credentials: "same-origin" });
    // The caller that takes the answer handles the failure.
    answer.catch(function () {});
    answers[address] = answer;
  });
  window.fairwayAnswers = answers;
})();

// Shows a message if the application cannot start: otherwise a missing script would leave an empty page.
(function () {
  var isChinese = /^zh/i.test(navigator.language);
  var texts = isChinese
    ? ["无法加载控制台", "文件缺失或连接中断。重新加载后会获取当前版本。", "重新加载"]
    : [
        "The console could not be loaded",
        "A file is missing or the connection broke. A reload fetches the current version.",
        "Reload",
      ];

  function show() {
    var root = document.getElementById("root");
    if (!root || root.childElementCount > 0) return;
    var box = document.createElement("main");
    box.className = "boot-failed";
    box.setAttribute("role", "alert");
    var title = document.createElement("h1");
    title.textContent = texts[0];
    var body = document.createElement("p");
    body.textContent = texts[1];
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = texts[2];
    button.addEventListener("click", function () {
      location.reload();
    });
    box.append(title, body, button);
    root.append(box);
  }

  // Errors of elements do not bubble.
  addEventListener(
    "error",
    function (event) {
      if (event.target instanceof HTMLScriptElement) show();
    },
    true,
  );
  addEventListener("load", function () {
    setTimeout(show, 15000);
  });
})();
