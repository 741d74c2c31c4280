// Says so when the application cannot start: without it a script that is missing leaves an empty page.
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
