# Installing under PREFIX (default /usr/local), inside DESTDIR for packagers.

PREFIX ?= /usr/local
BINDIR := $(PREFIX)/bin
MANDIR := $(PREFIX)/share/man/man1
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions

.PHONY: install uninstall
install: $(BINARY) $(MAN) $(COMPLETION) ## install binary, manual page and completion under PREFIX
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR) $(DESTDIR)$(COMPLETIONDIR)
	install -m 755 $(BINARY) $(DESTDIR)$(BINDIR)/tensorfold
	install -m 644 $(MAN) $(DESTDIR)$(MANDIR)/tensorfold.1
	install -m 644 $(COMPLETION) $(DESTDIR)$(COMPLETIONDIR)/tensorfold

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/tensorfold $(DESTDIR)$(MANDIR)/tensorfold.1 $(DESTDIR)$(COMPLETIONDIR)/tensorfold
