# One image for every role; compose.yaml names the command. It speaks to a cluster, so it carries no Java.
FROM python:3.13-slim

RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home remit \
 && install --directory --owner=remit /var/lib/remit

WORKDIR /usr/src/remit
COPY . .
RUN pip install --no-cache-dir --require-hashes -r requirements.lock \
 && pip install --no-cache-dir --no-deps --no-build-isolation .

USER remit
WORKDIR /var/lib/remit
ENTRYPOINT ["remit"]
